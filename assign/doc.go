// Package assign decides which member of a consumer group reads which
// partition, and knows the wire form of what members tell the member that
// decides.
//
// A [Group] is the question, a [Plan] is the answer, an [Assignor] turns the one
// into the other. The member that leads its group uses the package so:
//
//	members, problems := assign.ReadMembers(joined)
//	group := assign.Group{Members: members, Topics: topics}
//	assignments, left, err := assign.Lead(assignor, group)
//
// [Lead] is short for these steps, and much cheaper with the assignors of this package:
//
//	plan, err := assignor.Assign(group)      // the target
//	left, err := assign.Review(group, plan)  // is it an answer at all, and what did it forget?
//	plan = assign.Withhold(group, plan)      // cooperative assignors only
//	bytes := assign.AppendAssignment(nil, plan[id])
//
// # What the sticky assignors aim at
//
// [Sticky] and [CooperativeSticky] give every partition of a subscribed topic to a member
// that subscribes to it. Of all such plans they take one that is best by these rules, each of which
// only decides between plans that are equal by the ones before it:
//
//  1. Loads are as even as the subscriptions allow. A member's load is the number of its
//     partitions. The list of all members' loads, largest first, is the least in
//     lexicographic order.
//  2. Mismatches of racks are fewest. A partition is mismatched if its member has a rack, the racks of
//     its replicas are known (at least one is listed), and the member's is not one of them.
//     As in Java, racks play a role only if some member's rack is the rack of some replica, and
//     some partition (one without known racks counts) does not have replicas in all the racks that
//     any has. Only partitions of subscribed topics are looked at.
//  3. Moves are fewest. A move is a partition with a valid claim that gets another owner than
//     the member with that claim.
//
// Which of the plans left is taken depends only on the group: not on the order of members, topics or
// partitions. Beyond the rules, topics are spread over members as far as that costs
// little.
//
// A claim on a partition that exists is valid if it has the highest generation of all claims on
// that partition, no other member claims it in the same generation, and its member subscribes
// to the topic. Negative generations are equal and the lowest. A claim of an
// old generation that nobody disputes is as good as any. Which of several claims is highest is decided
// before subscriptions are looked at, so a member that has turned away from a topic leaves its partitions
// without a valid claim. Where claims are read from is said at each assignor.
//
// The work is bounded for every group. If all members subscribe to the same and racks play no role,
// time and memory are linear in the sizes of the group and of the plan, but for sorting. Otherwise the plan
// is looked for by network flow, on numbers of partitions that are alike rather than on
// partitions: memory is linear in the same sizes, and time in practice some passes over them. The number
// of steps has a limit of 2^29, some seconds, that no group met so far has come near to. Past half of it, loads
// that are not known yet are estimated, so that the largest is at most 1 + log2(members) times
// what it could be; past the other half, the partitions that are still without a
// place get one by rule 1 alone, in as many steps again; past those, they go to whoever has least. In each
// case the plan is complete, passes [Check], and depends only on the group.
//
// The package is pure: it starts no goroutine, reads no clock, does no I/O and
// keeps no state, so everything in it may be used from any goroutine. Equal
// groups get equal plans, whatever the order of their members. It knows nothing of
// connections, of generations as they pass, or of the states of a group.
package assign
