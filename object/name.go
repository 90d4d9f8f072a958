package object

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// MaxName is the longest name that is valid everywhere a name of ours may appear:
// as a DNS label (Services, container names) and as the value of a label.
const MaxName = 63

// hashLength is how many base32 characters (5 bits each) stand for what was cut.
const hashLength = 10

// Name joins the non-empty parts with "-" and returns at most limit bytes; a limit
// of zero or less means [MaxName]. What is longer is cut and ends in "-" and a hash of
// the whole, so that names which differ only behind the cut still differ.
//
// Name decides by the joined text and by nothing else: equal text gives equal names
// in every process and version, so Name(n, "a-b", "c") equals Name(n, "a", "b-c").
// Where parts may contain "-" and must not collide, the caller has to choose parts
// that cannot (a fixed first part, or one that is unique already).
//
// Parts are taken as they are: Name neither lowers letters nor removes what DNS
// forbids, because mending a name can make two different ones equal. From parts
// that are DNS-safe it makes a DNS-safe name. A limit too small for a cut and a
// hash (below 12) yields a piece of the hash alone.
func Name(limit int, parts ...string) string {
	if limit <= 0 {
		limit = MaxName
	}
	var used []string
	for _, p := range parts {
		if p != "" {
			used = append(used, p)
		}
	}
	whole := strings.Join(used, "-")
	if len(whole) <= limit {
		return whole
	}
	hash := nameHash(whole)
	if limit < hashLength+2 {
		return hash[:min(limit, hashLength)]
	}
	kept := strings.ToValidUTF8(whole[:limit-hashLength-1], "") // a letter of several bytes is never halved
	kept = strings.TrimRight(kept, "-.")
	if kept == "" {
		return hash
	}
	return kept + "-" + hash
}

// nameHash returns hashLength characters that are valid in a DNS label and start
// with a letter, because the names of Services must.
func nameHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	sum[0] &= 0x7f // the first five bits are below 16, which base32 writes as a letter
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:hashLength])
}
