package client

import (
	"reflect"
	"runtime"
)

// callName is the function that everything which a callback calls is called by.
var callName = runtime.FuncForPC(reflect.ValueOf((*produceBatch).call).Pointer()).Name()

// insideCallback reports whether the calling goroutine is in a callback of a
// Producer. It looks at the whole stack, so it is for those who would wait otherwise.
func insideCallback() bool {
	callers := make([]uintptr, 64)
	n := runtime.Callers(1, callers)
	for n == len(callers) { // the callback is at the far end
		callers = make([]uintptr, 2*len(callers))
		n = runtime.Callers(1, callers)
	}
	frames := runtime.CallersFrames(callers[:n])
	for {
		frame, more := frames.Next()
		if frame.Function == callName {
			return true
		}
		if !more {
			return false
		}
	}
}
