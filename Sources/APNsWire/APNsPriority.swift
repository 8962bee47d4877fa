/// The value of `apns-priority`; APNs refuses a broadcast without one.
package enum APNsPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Does not wake the device.
    case lowest = 1
    /// Delivered with regard to power; not counted against the device's hourly budget.
    case powerAware = 5
    /// Delivered at once; counted against the budget.
    case immediate = 10

    /// The priority of a Live Activity push to a device token: 5 or 10 (docs/internals/apns.md C6).
    package var ofDevicePush: APNsPriority { max(self, .powerAware) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
