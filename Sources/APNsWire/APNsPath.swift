/// Paths of APNs' HTTP API. They contain the bundle ID as registered, without a `.push-type` suffix.
package enum APNsPath {
    /// Creates (`POST`), reads (`GET`) and deletes (`DELETE`) a channel. A header names the channel.
    package static func channels(of bundleID: String) -> String { "/1/apps/\(bundleID)/channels" }

    /// Lists every channel ID of the app (`GET`). No paging is documented.
    package static func allChannels(of bundleID: String) -> String { "/1/apps/\(bundleID)/all-channels" }

    /// Sends to a channel (`POST`).
    package static func broadcasts(of bundleID: String) -> String { "/4/broadcasts/apps/\(bundleID)" }

    /// Sends to one device or one Live Activity (`POST`).
    package static func device(_ token: String) -> String { "/3/device/\(token)" }
}
