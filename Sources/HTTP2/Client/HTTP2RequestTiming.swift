/// The timing of an answered request.
package struct HTTP2RequestTiming: Sendable, Hashable {
    /// From the call until it had a stream.
    package var queued: Duration
    /// From the stream's beginning to the end of the answer.
    package var roundTrip: Duration
}
