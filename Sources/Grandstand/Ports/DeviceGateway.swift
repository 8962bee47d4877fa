/// The interface to APNs for pushes to single devices and activities. Every call ends within the configured request
/// timeout; none throws: see `APNsAnswer`.
package protocol DeviceGateway: Sendable {
    /// Sends one push to one device or activity of the app.
    func push(_ push: DevicePush, to address: APNsAddress) async -> APNsAnswer<Void>
}
