/// Gets the results of repeated work, and reports to people when the work begins to fail and when it works again.
package protocol OutageReporter: Sendable {
    /// The work failed. It will be tried again.
    func failed(_ error: any Error)

    /// The work succeeded.
    func worked()
}
