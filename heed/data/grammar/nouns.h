// Nouns with their measure words, and adjectives. The kinds of a noun define which verbs and
// adjectives go with it.
#pragma once

#include <cstdint>
#include <string_view>

namespace heed::grammar {

using Kinds = std::uint32_t;

/// What can be done with a thing, or said about it.
enum Kind : Kinds {
  kGoods = 1u << 0,      // bought and sold
  kRead = 1u << 1,       // read
  kWritten = 1u << 2,    // written
  kWatched = 1u << 3,    // watched
  kSung = 1u << 4,       // sung
  kEaten = 1u << 5,      // eaten
  kDrunk = 1u << 6,      // drunk
  kCooked = 1u << 7,     // made in a kitchen
  kAnimal = 1u << 8,     // seen, fed
  kSeen = 1u << 9,       // seen outdoors
  kDrawn = 1u << 10,     // drawn
  kWashed = 1u << 11,    // washed
  kRepaired = 1u << 12,  // repaired
  kBorrowed = 1u << 13,  // borrowed
  kPicked = 1u << 14,    // picked in a garden
  kSmall = 1u << 15,     // lies on a table; is found and lost
  kPerson = 1u << 16,    // met, helped
  kSized = 1u << 17,     // big, small
  kMade = 1u << 18,      // new, old
  kColoured = 1u << 19,  // of any colour
  kFurry = 1u << 20,     // black or white
  kPretty = 1u << 21,    // beautiful
  kFun = 1u << 22,       // interesting
  kTasty = 1u << 23,     // delicious, fresh
  kHeavy = 1u << 24,     // heavy, light
};

/// A noun in both languages.
struct Noun {
  std::string_view singular;
  std::string_view plural;
  std::string_view chinese;
  std::string_view measure;
  Kinds kinds = 0;
  std::string_view container = {};  // "cup": two cups of tea; same meaning as the measure word
  std::string_view containers = {};
};

inline constexpr Kinds kGadget = kGoods | kRepaired | kSmall | kMade;
inline constexpr Kinds kGarment = kGoods | kWashed | kSized | kMade | kColoured | kPretty;
inline constexpr Kinds kBook = kGoods | kRead | kBorrowed | kSmall | kMade | kFun;
inline constexpr Kinds kFruit = kGoods | kEaten | kWashed | kPicked | kSmall | kSized | kTasty;
inline constexpr Kinds kVehicle =
    kGoods | kSeen | kWashed | kRepaired | kSized | kMade | kColoured | kHeavy;
inline constexpr Kinds kPet = kAnimal | kSeen | kDrawn | kSized | kFurry | kPretty;
inline constexpr Kinds kFurniture = kGoods | kRepaired | kSized | kMade | kColoured | kHeavy;

inline constexpr Noun kThings[] = {
    {"book", "books", "书", "本", kBook | kHeavy},
    {"novel", "novels", "小说", "本", kGoods | kRead | kWritten | kBorrowed | kSmall | kFun},
    {"dictionary", "dictionaries", "词典", "本", kBook | kHeavy},
    {"magazine", "magazines", "杂志", "本", kBook},
    {"newspaper", "newspapers", "报纸", "份", kGoods | kRead | kSmall},
    {"letter", "letters", "信", "封", kRead | kWritten | kSmall},
    {"story", "stories", "故事", "个", kRead | kWritten | kFun},
    {"poem", "poems", "诗", "首", kRead | kWritten | kPretty},
    {"song", "songs", "歌", "首", kSung | kWritten},
    {"film", "films", "电影", "部", kWatched | kFun},
    {"map", "maps", "地图", "张", kGoods | kBorrowed | kDrawn | kSmall | kMade | kSized},
    {"photo", "photos", "照片", "张", kSmall | kPretty},
    {"ticket", "tickets", "票", "张", kGoods | kSmall},
    {"painting", "paintings", "画", "幅", kGoods | kPretty | kSized | kFun},
    {"table", "tables", "桌子", "张", kFurniture},
    {"bed", "beds", "床", "张", kFurniture},
    {"chair", "chairs", "椅子", "把", kFurniture | kDrawn | kBorrowed},
    {"umbrella", "umbrellas", "雨伞", "把", kGadget | kBorrowed | kSized | kColoured | kPretty},
    {"knife", "knives", "刀", "把", kGoods | kWashed | kSmall | kMade | kSized},
    {"key", "keys", "钥匙", "把", kSmall | kSized},
    {"cup", "cups", "杯子", "个", kGoods | kWashed | kSmall | kSized | kMade | kColoured | kPretty},
    {"bag", "bags", "包", "个",
     kGoods | kSmall | kSized | kMade | kColoured | kPretty | kHeavy | kBorrowed},
    {"box", "boxes", "箱子", "个", kSized | kMade | kHeavy},
    {"apple", "apples", "苹果", "个", kFruit | kDrawn},
    {"orange", "oranges", "橙子", "个", kFruit},
    {"pear", "pears", "梨", "个", kFruit},
    {"egg", "eggs", "鸡蛋", "个", kGoods | kEaten | kCooked | kSmall | kTasty},
    {"watermelon", "watermelons", "西瓜", "个", kFruit | kHeavy},
    {"computer", "computers", "电脑", "台", kGadget | kBorrowed | kHeavy},
    {"camera", "cameras", "照相机", "台", kGadget | kBorrowed | kSized | kHeavy},
    {"phone", "phones", "手机", "部", kGadget | kColoured},
    {"clock", "clocks", "钟", "个", kGadget | kSized},
    {"car", "cars", "汽车", "辆", kVehicle | kDrawn},
    {"bicycle", "bicycles", "自行车", "辆", kVehicle | kBorrowed},
    {"truck", "trucks", "卡车", "辆", kVehicle},
    {"boat", "boats", "船", "条", kSeen | kDrawn | kRepaired | kSized | kMade | kColoured},
    {"cat", "cats", "猫", "只", kPet},
    {"dog", "dogs", "狗", "只", kPet | kWashed},
    {"bird", "birds", "鸟", "只", kPet},
    {"rabbit", "rabbits", "兔子", "只", kPet},
    {"duck", "ducks", "鸭子", "只", kPet},
    {"monkey", "monkeys", "猴子", "只", kAnimal | kSeen | kDrawn | kSized},
    {"horse", "horses", "马", "匹", kPet | kWashed},
    {"cow", "cows", "牛", "头", kAnimal | kSeen | kDrawn | kSized | kFurry},
    {"elephant", "elephants", "大象", "头", kAnimal | kSeen | kDrawn | kWashed},
    {"snake", "snakes", "蛇", "条", kSeen | kDrawn | kSized},
    {"shirt", "shirts", "衬衫", "件", kGarment},
    {"coat", "coats", "大衣", "件", kGoods | kWashed | kMade | kColoured | kPretty | kHeavy},
    {"sweater", "sweaters", "毛衣", "件", kGarment},
    {"skirt", "skirts", "裙子", "条", kGarment},
    {"scarf", "scarves", "围巾", "条", kGarment},
    {"hat", "hats", "帽子", "顶", kGarment | kSmall},
    {"tree", "trees", "树", "棵", kSeen | kDrawn | kSized},
    {"flower", "flowers", "花", "朵",
     kGoods | kSeen | kDrawn | kPicked | kSized | kColoured | kPretty},
    {"house", "houses", "房子", "座", kSeen | kDrawn | kSized | kMade | kColoured | kPretty},
    {"bridge", "bridges", "桥", "座", kSeen | kDrawn | kRepaired | kSized | kMade | kPretty},
    {"pen", "pens", "钢笔", "支", kGadget | kBorrowed | kColoured},
    {"pencil", "pencils", "铅笔", "支", kGoods | kBorrowed | kSmall | kColoured},
    {"tea", "", "茶", "杯", kDrunk | kSmall, "cup", "cups"},
    {"coffee", "", "咖啡", "杯", kDrunk | kSmall, "cup", "cups"},
    {"water", "", "水", "杯", kDrunk | kSmall, "glass", "glasses"},
    {"milk", "", "牛奶", "杯", kDrunk | kSmall, "glass", "glasses"},
    {"beer", "", "啤酒", "瓶", kGoods | kDrunk | kSmall, "bottle", "bottles"},
    {"juice", "", "果汁", "瓶", kGoods | kDrunk | kSmall, "bottle", "bottles"},
    {"rice", "", "米饭", "碗", kEaten | kCooked | kSmall, "bowl", "bowls"},
    {"noodles", "", "面条", "碗", kEaten | kCooked | kSmall, "bowl", "bowls"},
    {"dumplings", "", "饺子", "盘", kEaten | kCooked | kSmall, "plate", "plates"},
    {"bread", "", "面包", "片", kEaten | kSmall, "slice", "slices"},
    {"cake", "", "蛋糕", "块", kGoods | kEaten | kSmall, "piece", "pieces"},
    {"chocolate", "", "巧克力", "块", kGoods | kEaten | kSmall, "piece", "pieces"},
    {"shoes", "", "鞋", "双", kGoods | kWashed, "pair", "pairs"},
    {"gloves", "", "手套", "双", kGoods | kWashed | kSmall, "pair", "pairs"},
    {"glasses", "", "眼镜", "副", kGoods | kSmall, "pair", "pairs"},
};

inline constexpr Noun kProfessions[] = {
    {"teacher", "teachers", "老师", "位", kPerson},
    {"doctor", "doctors", "医生", "位", kPerson},
    {"nurse", "nurses", "护士", "位", kPerson},
    {"driver", "drivers", "司机", "位", kPerson},
    {"farmer", "farmers", "农民", "位", kPerson},
    {"cook", "cooks", "厨师", "位", kPerson},
    {"tourist", "tourists", "游客", "位", kPerson},
    {"painter", "painters", "画家", "位", kPerson},
    {"writer", "writers", "作家", "位", kPerson},
    {"engineer", "engineers", "工程师", "位", kPerson},
    {"student", "students", "学生", "个", kPerson},
    {"child", "children", "孩子", "个", kPerson},
    {"boy", "boys", "男孩", "个", kPerson},
    {"girl", "girls", "女孩", "个", kPerson},
};

/// The order of adjectives in English: a beautiful small new red umbrella.
enum class Rank : std::uint8_t { opinion, size, age, colour };

/// An adjective in both languages.
struct Adjective {
  std::string_view english;
  std::string_view chinese;  // without 的
  Rank rank;
  Kinds fits;
};

/// Adjectives. In Chinese, those of size and age come directly before the noun (小雨伞), the others
/// are followed by 的.
inline constexpr Adjective kAdjectives[] = {
    {"beautiful", "漂亮", Rank::opinion, kPretty},
    {"interesting", "有趣", Rank::opinion, kFun},
    {"delicious", "好吃", Rank::opinion, kTasty},
    {"fresh", "新鲜", Rank::opinion, kTasty},
    {"expensive", "昂贵", Rank::opinion, kMade},
    {"cheap", "便宜", Rank::opinion, kMade},
    {"young", "年轻", Rank::opinion, kPerson},
    {"kind", "善良", Rank::opinion, kPerson},
    {"clever", "聪明", Rank::opinion, kPerson},
    {"big", "大", Rank::size, kSized},
    {"small", "小", Rank::size, kSized},
    {"new", "新", Rank::age, kMade},
    {"old", "旧", Rank::age, kMade},
    {"red", "红色", Rank::colour, kColoured},
    {"yellow", "黄色", Rank::colour, kColoured},
    {"blue", "蓝色", Rank::colour, kColoured},
    {"green", "绿色", Rank::colour, kColoured},
    {"black", "黑色", Rank::colour, kColoured | kFurry},
    {"white", "白色", Rank::colour, kColoured | kFurry},
};

/// A quality by which things and people are compared.
struct Quality {
  std::string_view english;  // "big"
  std::string_view more;     // "bigger"
  std::string_view chinese;
  Kinds fits;
};

inline constexpr Quality kQualities[] = {
    {"big", "bigger", "大", kSized},
    {"small", "smaller", "小", kSized},
    {"new", "newer", "新", kMade},
    {"old", "older", "旧", kMade},
    {"expensive", "more expensive", "贵", kGoods},
    {"cheap", "cheaper", "便宜", kGoods},
    {"beautiful", "more beautiful", "漂亮", kPretty},
    {"interesting", "more interesting", "有趣", kFun},
    {"heavy", "heavier", "重", kHeavy},
    {"light", "lighter", "轻", kHeavy},
    {"fresh", "fresher", "新鲜", kTasty},
    {"tall", "taller", "高", kPerson},
    {"young", "younger", "年轻", kPerson},
    {"busy", "busier", "忙", kPerson},
    {"clever", "cleverer", "聪明", kPerson},
    {"strong", "stronger", "强壮", kPerson},
    {"careful", "more careful", "细心", kPerson},
};

}  // namespace heed::grammar
