internal import FoundationEssentials
internal import Grandstand
internal import GrandstandContract

// How values that many nouns have are said in the contract.

extension Contract.Page {
    /// A page of the store, each item as the contract has it.
    init<Value>(_ page: Grandstand.Page<Value>, _ item: (Value) throws -> Item) rethrows {
        self.init(items: try page.items.map(item), nextCursor: page.nextCursor)
    }
}

extension OpenEnumeration {
    /// The word of a value of the rules.
    init(_ value: some RawRepresentable<String>) { self.init(rawValue: value.rawValue) }
}

extension UUID {
    /// As the API writes IDs: in lower case.
    var words: String { uuidString.lowercased() }
}

extension Double {
    /// To a tenth.
    var tenths: Double { (self * 10).rounded() / 10 }
}
