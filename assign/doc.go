// Package assign decides which member of a consumer group reads which
// partition, and knows the wire form of what members tell the member that
// decides.
//
// A [Group] is the question, a [Plan] is the answer, an [Assignor] turns the one
// into the other. The member that leads its group uses the package so:
//
//	members, problems := assign.ReadMembers(joined)
//	group := assign.Group{Members: members, Topics: topics}
//	plan, err := assignor.Assign(group)      // the target
//	err = assign.Check(group, plan)          // is it an answer at all?
//	left := assign.Unassigned(group, plan)   // did it forget something?
//	plan = assign.Withhold(group, plan)      // cooperative assignors only
//	bytes := assign.AppendAssignment(nil, plan[id])
//
// The package is pure: it starts no goroutine, reads no clock, does no I/O and
// keeps no state, so everything in it may be used from any goroutine. Equal
// groups get equal plans, whatever the order of their members. It knows nothing of
// connections, of generations as they pass, or of the states of a group.
package assign
