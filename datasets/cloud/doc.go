// Package cloud keeps datasets in Google Cloud Storage (gs://BUCKET) and in Azure Blob
// Storage (azblob://CONTAINER). It has these stores in a program that is built with the
// tag cloud, and none else, as their clients are large. Credentials are those that the
// environment has; https://gocloud.dev/howto/blob tells what the query of an URL may say.
package cloud
