package groupmember

// Status is a copy of what a member knows of itself, for debugging and tests.
type Status struct {
	State       State
	MemberID    string // "" if the coordinator has given none
	Generation  int32  // -1 if the member is in none
	Protocol    string // the assignor of Generation; "" if none
	Leader      bool   // whether the member leads Generation
	Coordinator bool   // whether the coordinator is known
	Suspended   bool   // whether the member must assume its loss
	Owned       Partitions
	OwnedSince  int32      // the generation in which Owned was assigned; -1 if none
	Last        *Rebalance // the last one that is over; nil if none. It is not written again
}
