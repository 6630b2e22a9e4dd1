package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/musterkafka/muster/cmd/muster/internal/demo"
)

// demoCommand builds "muster demo".
func demoCommand() *cobra.Command {
	cfg := demo.Config{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a consumer group while its members come, go and crash",
		Long: `demo writes records to a topic of its own and reads them back with a
consumer group whose members come, go and crash. A table shows who owns what in
which generation. The last line counts every record: produced, consumed, lost,
duplicated. Duplicates can be more than 0 only because of the crash: what a
member had read and not committed when it died is read again.

Without --brokers it runs against a broker inside this process.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.Out = cmd.OutOrStdout()
			return demo.Run(cmd.Context(), cfg)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&cfg.Brokers, "brokers", nil, "host:port of one or more brokers, separated by commas")
	flags.IntVar(&cfg.Records, "records", 30_000, "records to write and read")
	flags.IntVar(&cfg.Partitions, "partitions", 12, "partitions of the topic")
	flags.DurationVar(&cfg.SessionTimeout, "session-timeout", 6*time.Second, "after which a crashed member's partitions are taken over; the broker sets a lower bound, usually 6s")
	return cmd
}
