/// The timing of an answered request.
package struct HTTP2RequestTiming: Sendable, Hashable {
    /// The time from the call until the request had a stream.
    package var queued: Duration
    /// The time from the beginning of the stream to the end of the answer.
    package var roundTrip: Duration
}
