package assign

import "fmt"

// A Member is one consumer of a group, as the group's leader sees it.
type Member struct {
	// ID is what the coordinator calls the member, unique in its group.
	ID string
	// InstanceID is the name a static member keeps over restarts (KIP-345); empty
	// for a dynamic member.
	InstanceID string
	// Rack is where the member runs (KIP-881); empty if unknown.
	Rack string
	// Topics is what the member subscribes to, ascending, each topic once.
	Topics []string
	// Owned is what the member held when it joined. It is a claim, which another
	// member may dispute: see Withhold.
	Owned Partitions
	// Generation is the one in which Owned was assigned (KIP-792); negative if
	// unknown. Generation 0 exists: a member that claims something and does not
	// know since when must say -1.
	Generation int32
	// UserData is what the member's own assignor put into the subscription; nil
	// if nothing. Only an assignor of that name can read it.
	UserData []byte
}

// A Topic is what the group's leader knows of a topic.
type Topic struct {
	// Partitions is the number of partitions: they are 0 to Partitions-1. Zero
	// means that there is nothing to assign yet; negative makes the group invalid.
	Partitions int32
	// Racks lists, by partition, the racks of the partition's replicas in any
	// order. Partitions beyond its end have no known rack; nil if none is known. A
	// replica whose rack is unknown has no entry: the empty string is a rack like
	// any other.
	Racks [][]string
}

// A Group is the question an assignor answers: who is here, and what is there
// to read. Topics that no member subscribes to and subscribed topics that are not
// in Topics are both allowed and get no owner. Two members of one ID, a
// negative number of partitions, or more than 16,777,216 partitions in all make a
// group invalid.
type Group struct {
	Members []Member
	Topics  map[string]Topic
}

// A Plan says what each member shall read, by member ID. Every member of the
// group has an entry, if only an empty one.
type Plan map[string]Partitions

// An Assignor distributes a group's partitions. Applications may bring their
// own. Its methods are called from any goroutine, and one value may serve several
// groups at the same time.
type Assignor interface {
	// Name is what members of a group must have in common: "range", "roundrobin",
	// "sticky" and "cooperative-sticky" are Kafka's own. It never changes.
	Name() string

	// Cooperative reports whether members keep what they own while the group
	// rebalances (KIP-429). It never changes.
	Cooperative() bool

	// Assign answers the group with the target: who shall own what once everybody
	// has let go of what is not theirs. Equal groups must get equal plans. A plan
	// must pass Check; taking out what others still own is left to
	// Withhold. It must not change the group or keep a reference to it.
	Assign(Group) (Plan, error)
}

// A UserDataEncoder is an Assignor that puts bytes of its own into the
// subscription of the member it works for. Leaders find them in Member.UserData.
type UserDataEncoder interface {
	// UserData returns the bytes for a member that owns these partitions since that
	// generation; nil for none. Generation -1 means that the member has
	// never had an assignment. Equal arguments must give equal bytes: a
	// coordinator takes changed bytes for a changed member and rebalances.
	UserData(owned Partitions, generation int32) []byte
}

// validate says why no plan can answer g: members that share an ID, a topic
// with a negative number of partitions, or too many partitions.
func (g Group) validate() error {
	seen := make(map[string]bool, len(g.Members))
	for _, m := range g.Members {
		if seen[m.ID] {
			return fmt.Errorf("member %q is listed twice in the group", m.ID)
		}
		seen[m.ID] = true
	}
	return checkTopics(g.Topics)
}

// maxPartitions bounds the partitions of one group, and with them the memory for a
// plan: several times what the largest Kafka clusters hold.
const maxPartitions = 1 << 24

// checkTopics says which topic has a negative number of partitions, the first by name, or
// that the topics have too many partitions to plan for.
func checkTopics(topics map[string]Topic) error {
	var sum int64
	bad, found := "", false
	for name, t := range topics {
		if t.Partitions < 0 && (!found || name < bad) {
			bad, found = name, true
		}
		sum += int64(max(t.Partitions, 0))
	}
	if found {
		return fmt.Errorf("topic %q has %d partitions; the number must not be negative", bad, topics[bad].Partitions)
	}
	if sum > maxPartitions {
		return fmt.Errorf("the topics have %d partitions in all; a plan can hold at most %d", sum, maxPartitions)
	}
	return nil
}
