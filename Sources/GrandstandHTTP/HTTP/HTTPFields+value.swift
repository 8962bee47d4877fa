internal import HTTPTypes

extension HTTPFields {
    /// The value of the field with this name, or the values of several joined: as the subscript has it, which joins also
    /// where there is one.
    func value(of name: HTTPField.Name) -> String? {
        guard let index = firstIndex(where: { $0.name == name }) else { return nil }
        return self[(index + 1)...].contains { $0.name == name } ? self[name] : self[index].value
    }
}
