// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Stand-in; see README.md. Apple's WidgetKit, what the example uses of it.
public import ActivityKit
public import SwiftUI

@MainActor
public protocol WidgetConfiguration {}

@MainActor
public protocol Widget {
    associatedtype Body: WidgetConfiguration
    var body: Body { get }
    init()
}

@MainActor
public protocol WidgetBundle {
    associatedtype Body: Widget
    @WidgetBundleBuilder var body: Body { get }
    init()
}

extension WidgetBundle {
    public static func main() { fatalError() }
}

@resultBuilder
public enum WidgetBundleBuilder {
    public static func buildBlock<Content: Widget>(_ content: Content) -> Content { content }
}

public struct ActivityViewContext<Attributes: ActivityAttributes> {
    public let state: Attributes.ContentState
    public let attributes: Attributes
    public let activityID: String
    public let isStale: Bool
}

public struct ActivityConfiguration<Attributes: ActivityAttributes>: WidgetConfiguration {
    public init(
        for attributesType: Attributes.Type,
        @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> some View,
        dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
    ) { fatalError() }
}

public struct DynamicIslandExpandedRegionPosition: Sendable {
    public static let leading = Self()
    public static let trailing = Self()
    public static let center = Self()
    public static let bottom = Self()
}

public struct DynamicIslandExpandedRegion {
    public init(
        _ position: DynamicIslandExpandedRegionPosition, priority: Double = 0, @ViewBuilder content: () -> some View
    ) { fatalError() }
}

@resultBuilder
public enum DynamicIslandExpandedContentBuilder {
    public static func buildBlock(_ regions: DynamicIslandExpandedRegion...) -> [DynamicIslandExpandedRegion] {
        regions
    }
}

public struct DynamicIsland {
    public init(
        @DynamicIslandExpandedContentBuilder expanded: @escaping () -> [DynamicIslandExpandedRegion],
        @ViewBuilder compactLeading: @escaping () -> some View, @ViewBuilder compactTrailing: @escaping () -> some View,
        @ViewBuilder minimal: @escaping () -> some View
    ) { fatalError() }
}

extension View {
    public func activityBackgroundTint(_ color: Color?) -> Stub { fatalError() }
    public func activitySystemActionForegroundColor(_ color: Color?) -> Stub { fatalError() }
}
