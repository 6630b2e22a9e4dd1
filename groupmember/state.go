package groupmember

// State is where the member stands in the conversation.
type State uint8
