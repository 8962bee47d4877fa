/// The value of `apns-priority`. APNs refuses a broadcast without one.
package enum APNsPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// The message does not wake the device.
    case lowest = 1
    /// The message is delivered at a time that saves the device's power. It does not count against the device's hourly
    /// budget.
    case powerAware = 5
    /// The message is delivered at once. It counts against the device's hourly budget.
    case immediate = 10

    /// The priority of a Live Activity push to a device token, which must be 5 or 10 (docs/internals/apns.md C6).
    package var forDevicePush: APNsPriority { max(self, .powerAware) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
