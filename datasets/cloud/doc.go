// Package cloud keeps datasets in Google Cloud Storage (gs://BUCKET) and in Azure Blob
// Storage (azblob://CONTAINER). Only programs built with the tag cloud have these
// stores, because their clients are large. Credentials come from the environment;
// https://gocloud.dev/howto/blob describes the query of the URLs.
package cloud
