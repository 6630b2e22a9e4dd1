package conn

// A ring is a first-in first-out queue that reuses its memory. The zero value
// is empty and ready.
type ring[T any] struct {
	items []T // its length is a power of two
	first int
	count int
}

func (r *ring[T]) len() int { return r.count }

func (r *ring[T]) at(i int) *T { return &r.items[(r.first+i)&(len(r.items)-1)] }

// head returns the oldest item, tail the newest; nil if there is none.
func (r *ring[T]) head() *T {
	if r.count == 0 {
		return nil
	}
	return r.at(0)
}

func (r *ring[T]) tail() *T {
	if r.count == 0 {
		return nil
	}
	return r.at(r.count - 1)
}

func (r *ring[T]) push(item T) {
	if r.count == len(r.items) {
		items := make([]T, max(1, 2*len(r.items)))
		for i := range r.count {
			items[i] = *r.at(i)
		}
		r.items, r.first = items, 0
	}
	r.count++
	*r.tail() = item
}

// pop takes the oldest item; there must be one.
func (r *ring[T]) pop() T {
	item := *r.at(0)
	*r.at(0) = *new(T) // let go of what it points to
	r.first = (r.first + 1) & (len(r.items) - 1)
	r.count--
	return item
}
