/// Hears how work goes that is done again and again, and tells people when it stops going and when it goes again.
package protocol OutageReporter: Sendable {
    /// It failed; it will be tried again.
    func failed(_ error: any Error)

    /// It was done.
    func worked()
}
