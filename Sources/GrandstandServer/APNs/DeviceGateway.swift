package import Grandstand

/// The interface to APNs for pushes to single devices and activities. Every call ends within the configured request
/// timeout. No call throws: its `APNsAnswer` also says how a call failed.
package protocol DeviceGateway: Sendable {
    /// Sends one push to one device or activity of the app.
    func push(_ push: DevicePush, to address: APNsAddress) async -> APNsAnswer<Void>
}
