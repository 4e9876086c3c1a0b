package catalog

var games = []Game{}
