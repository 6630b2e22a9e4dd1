package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/musterkafka/muster/cmd/muster/internal/planner"
)

// planCommand builds "muster plan".
func planCommand() *cobra.Command {
	var names []string
	var moves bool
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "Try assignors on a group, without a broker",
		Long: `plan reads a group from a JSON file, or from standard input if FILE is "-",
and shows what each assignor would make of it: the smallest and largest load,
partitions read by a member in whose rack they have no replica, partitions that
stay and that move, and the time it took.

  {
    "topics": {"orders": {"partitions": 3, "racks": [["r1", "r2"], ["r1"], ["r2"]]}},
    "members": [
      {"id": "a", "rack": "r1", "topics": ["orders"], "owned": {"orders": [0, 1, 2]}, "generation": 7},
      {"id": "b", "rack": "r2", "topics": ["orders"]}
    ]
  }

"racks" lists the racks of each partition's replicas. "racks", "rack",
"instance" (of a static member), "owned" and "generation" may be left out.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("plan takes one FILE, or \"-\" for standard input; there are %d: see muster plan --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in, name := io.NopCloser(cmd.InOrStdin()), "standard input"
			if args[0] != "-" {
				name = args[0]
				if in, err = os.Open(args[0]); err != nil {
					return err
				}
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			g, err := planner.Read(in)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			outcomes, err := planner.Try(g, names)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return planner.Print(cmd.OutOrStdout(), outcomes, moves)
		},
	}
	cmd.Flags().StringSliceVar(&names, "assignor", nil, "only these, separated by commas; default all")
	cmd.Flags().BoolVar(&moves, "moves", false, "also show what moves, and why")
	return cmd
}
