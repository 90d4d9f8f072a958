package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version is stamped by the linker: -X main.version=v1.2.3.
var version string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, that of Go, and the Kubernetes minor that this is built for",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{}
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), describe(version, info))
			return err
		},
	}
}

// describe says what a program with this stamp and this build record is.
func describe(stamp string, info *debug.BuildInfo) string {
	own := stamp
	if own == "" {
		own = strings.Trim(info.Main.Version, "()") // Go writes (devel)
	}
	if own == "" {
		own = "devel"
	}
	return fmt.Sprintf("armature %s\n%s\nKubernetes %s", own, info.GoVersion, kubernetes(info))
}

// kubernetes is the minor whose client libraries are linked: v0.37.2 is of 1.37.
func kubernetes(info *debug.BuildInfo) string {
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if parts := strings.Split(m.Version, "."); m.Path == "k8s.io/client-go" && len(parts) > 1 {
			return "1." + parts[1]
		}
	}
	return "unknown"
}
