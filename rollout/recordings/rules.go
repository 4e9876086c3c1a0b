package recordings

import "fmt"

// CheckRules returns an *OptionError if rules are given for recordings that
// contain their own rules.
func CheckRules(i *Info, rules string) error {
	if rules == "" || i.RulesMissing {
		return nil
	}
	return &OptionError{Option: "rules", Err: fmt.Errorf("recordings of %s contain their own rules", i.Game)}
}
