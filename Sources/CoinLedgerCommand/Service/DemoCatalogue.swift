/// The catalogue of `coinledger dev`, unless it's given another.
enum DemoCatalogue {
    static let bytes = Array(
        """
        {"version": "demo-1", "bundleIds": ["com.nonchalant"], "products": [
          {"productId": "com.nonchalant.consumable1", "paid": 100, "bonus": 10},
          {"productId": "com.nonchalant.consumable2", "paid": 500, "bonus": 75},
          {"productId": "coins100", "paid": 100},
          {"productId": "coins500", "paid": 500}
        ], "stamps": [
          {"stampId": "heart", "coins": 30}, {"stampId": "bouquet", "coins": 100}
        ]}
        """.utf8)
}
