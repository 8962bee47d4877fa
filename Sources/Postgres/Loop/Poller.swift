#if canImport(Glibc) || canImport(Musl)
    internal import CLibPQ

    /// A poller with one-shot epoll.
    final class Poller: Sendable {
        private let descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))

        /// Reports the socket once when it can be read, or also when it can be written. Calling it again replaces the
        /// earlier interest.
        func arm(_ socket: Int32, orWritten: Bool) {
            var event = epoll_event()
            event.events = EPOLLONESHOT.rawValue | EPOLLRDHUP.rawValue | EPOLLIN.rawValue
            if orWritten { event.events |= EPOLLOUT.rawValue }
            event.data.fd = socket
            // A new socket is not in the queue, even if it has the number of a closed one: closing a socket removes it.
            if epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event) != 0 {
                epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &event)
            }
        }

        func forget(_ socket: Int32) {
            var event = epoll_event()
            epoll_ctl(descriptor, EPOLL_CTL_DEL, socket, &event)
        }

        /// Passes all pending events to `report`. Waits for the first one for at most this time.
        func wait(milliseconds: Int, _ report: (Int32) -> Void) {
            withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
                let count = epoll_wait(descriptor, events.baseAddress, 64, Int32(milliseconds))
                for index in 0..<max(0, Int(count)) { report(events[index].data.fd) }
            }
        }
    }
#elseif canImport(Darwin)
    private import Darwin

    /// A poller with one-shot kqueue.
    final class Poller: Sendable {
        private let descriptor = kqueue()

        /// Reports the socket once when it can be read, or also when it can be written. Calling it again replaces the
        /// earlier interest.
        func arm(_ socket: Int32, orWritten: Bool) {
            for filter in orWritten ? [EVFILT_READ, EVFILT_WRITE] : [EVFILT_READ] {
                var event = Darwin.kevent()
                event.ident = UInt(socket)
                event.filter = Int16(filter)
                event.flags = UInt16(EV_ADD | EV_ONESHOT)
                _ = kevent(descriptor, &event, 1, nil, 0, nil)
            }
        }

        /// Nothing to do: closing a socket removes it from the queue.
        func forget(_ socket: Int32) {}

        /// Passes all pending events to `report`. Waits for the first one for at most this time.
        func wait(milliseconds: Int, _ report: (Int32) -> Void) {
            withUnsafeTemporaryAllocation(of: Darwin.kevent.self, capacity: 64) { events in
                var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
                let count = kevent(descriptor, nil, 0, events.baseAddress, 64, &time)
                for index in 0..<max(0, Int(count)) { report(Int32(events[index].ident)) }
            }
        }
    }
#endif
