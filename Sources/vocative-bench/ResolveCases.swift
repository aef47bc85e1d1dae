/// A vocabulary of mixed names and phrases for it, the same in each run.
struct ResolveCases {
  /// How a phrase came about from a name of the vocabulary.
  enum Kind: String, CaseIterable {
    /// As it is there.
    case exact
    /// As a recogniser would write it that heard it: a homophone, or a letter that is wrong.
    case misheard
    /// The name, exact or misheard, in what is said around it.
    case carried
    /// In the other script, by a part, or by a short form.
    case mixed
    /// Nobody's.
    case nobody
  }

  /// Distinct, the most important first.
  let names: [String]
  let phrases: [(kind: Kind, text: String)]

  static let seed: UInt64 = 3

  init(names count: Int, phrases phraseCount: Int) {
    var random = SeededRandom(seed: Self.seed)
    var names: [Name] = []
    var seen: Set<String> = []
    while names.count < count {
      let name = Name(&random)
      if seen.insert(name.text).inserted { names.append(name) }
    }
    self.names = names.map(\.text)
    // A quarter each but for the last two, which share one.
    let kinds: [Kind] = [
      .exact, .exact, .misheard, .misheard, .carried, .carried, .mixed, .nobody,
    ]
    var phrases: [(kind: Kind, text: String)] = []
    for number in 0..<phraseCount {
      let kind = kinds[number % kinds.count]
      let name = random.pick(names)
      let text =
        switch kind {
        case .exact: name.text
        case .misheard: name.misheard(&random)
        case .carried: Self.carry(random.chance(50) ? name.text : name.misheard(&random), &random)
        case .mixed: name.mixed(&random)
        case .nobody: Self.nobody(besides: seen, &random)
        }
      phrases.append((kind, text))
    }
    self.phrases = phrases
  }

  private static func carry(_ name: String, _ random: inout SeededRandom) -> String {
    let (before, behind) = random.pick([
      ("text ", ""), ("please tell ", ""), ("send a message to ", ""), ("call ", " using Telegram"),
      ("tell ", " that I'm late"), ("my friend ", ""), ("envoie un message à ", ""),
      ("appelle ", ""), ("mon ami ", ""), ("给", "发消息"), ("帮我给", "打个电话"), ("告诉", ""),
      ("用微信发消息给", "说你好"), ("我朋友", ""),
    ])
    return before + name + behind
  }

  private static func nobody(
    besides known: Set<String>, _ random: inout SeededRandom
  ) -> String {
    if random.chance(40) {
      return random.pick([
        "turn on the lights", "what's the weather like", "今天天气怎么样", "打开手电筒",
        "quel temps fait-il", "mets un minuteur", "add milk to the list", "play some jazz",
      ])
    }
    while true {
      let name = Name(&random).text
      if !known.contains(name) { return name }
    }
  }
}

/// A name by its parts.
private struct Name {
  var text: String
  /// Chinese syllables with their pinyin, as they are in the text.
  private var han: [(character: Character, pinyin: String)] = []
  private var latin: [String] = []

  init(_ random: inout SeededRandom) {
    text = ""
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<7: text = chinese(&random)
    case 7..<10:
      // 崔Bob, Eva 韩辰桂, Simon-沈婷佳
      let name = chinese(&random, givenAtMost: 1)
      latin = [random.pick(Self.english).name]
      text =
        random.chance(50)
        ? name + latin[0] : latin[0] + random.pick([" ", "-", ""]) + name
    case 10..<14:
      latin = [random.pick(Self.english).name, random.pick(Self.englishSurnames)]
      text = latin.joined(separator: " ")
    case 14..<17:
      latin = [random.pick(Self.french), random.pick(Self.frenchSurnames)]
      if random.chance(30) { latin.insert(random.pick(Self.french), at: 1) }
      text = latin.joined(separator: " ")
    case 17:
      text = random.pick(["小", "老", "阿", "大"]) + chinese(&random, givenAtMost: 1)
    case 18:
      latin = [random.pick(random.pick(Self.english).short), random.pick(Self.englishSurnames)]
      text = latin.joined(separator: " ")
    default:
      let ornament = random.pick(["★", "🍓", "👑", "ღ", "°", "🇨🇳"])
      text = ornament + chinese(&random) + (random.chance(50) ? ornament : "")
    }
    // What people write behind a name.
    switch Int.random(in: 0..<20, using: &random) {
    case 0: text += " \(Int.random(in: 1...99, using: &random))"
    case 1: text += random.pick([" (work)", "（公司）", " 手机", " Paris"])
    default: break
    }
  }

  private mutating func chinese(
    _ random: inout SeededRandom, givenAtMost most: Int = 2
  ) -> String {
    let surname = random.pick(Self.surnames)
    han.append((surname.key, surname.pinyin))
    for _ in 0..<(most == 1 || random.chance(20) ? 1 : 2) {
      let group = random.pick(Self.syllables)
      han.append((random.pick(Array(group.characters)), group.pinyin))
    }
    return String(han.map(\.character))
  }

  /// A homophone for a character of a given name, or a letter that is wrong, missing or doubled.
  func misheard(_ random: inout SeededRandom) -> String {
    if let last = han.last, latin.isEmpty || random.chance(50),
      let group = Self.syllables.first(where: { $0.pinyin == last.pinyin })
    {
      return text.replacing(
        String(last.character), with: String(random.pick(Array(group.characters))))
    }
    guard let word = latin.max(by: { $0.count < $1.count }) else { return text + "儿" }
    var letters = Array(word)
    let place = Int.random(in: 1..<letters.count, using: &random)
    switch Int.random(in: 0..<3, using: &random) {
    case 0: letters[place] = random.pick(Array("aeioutrsnl"))
    case 1: letters.remove(at: place)
    default: letters.insert(letters[place], at: place)
    }
    return text.replacing(word, with: String(letters))
  }

  /// In pinyin, by a part, by a short form, the other way round.
  func mixed(_ random: inout SeededRandom) -> String {
    let pinyin = han.map(\.pinyin)
    switch (han.isEmpty, latin.isEmpty) {
    case (false, true):
      return random.pick([
        pinyin.joined(separator: " "), pinyin[0] + " " + pinyin.dropFirst().joined(),
        "小" + String(han[han.count - 1].character), String(han.dropFirst().map(\.character)),
      ])
    case (false, false):
      return random.pick([
        (pinyin + latin).joined(separator: " "), latin[0] + String(han.map(\.character)),
        String(han[0].character) + latin[0].lowercased(), latin[0],
      ])
    default:
      let short = Self.english.first { $0.name == latin.first }?.short
      return random.pick([
        latin.reversed().joined(separator: ", "), latin[latin.count - 1],
        ((short.map { random.pick($0) }).map { [$0] } ?? []).joined() + " "
          + latin[latin.count - 1],
      ])
    }
  }

  // MARK: What names are made of

  private static let surnames: [(key: Character, pinyin: String)] = zip(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林郑谢罗梁宋唐许韩冯邓曹彭曾萧田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈",
    """
    wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he gao lin zheng xie luo liang \
    song tang xu han feng deng cao peng zeng xiao tian dong yuan pan yu jiang cai yu du ye cheng su wei \
    lv ding ren shen
    """.split(separator: " ")
  ).map { ($0, String($1)) }

  /// Characters of given names, by their sound.
  private static let syllables: [(pinyin: String, characters: String)] = """
    yi 一依宜怡艺伊亦 ran 然燃冉 xin 欣新心昕馨 yu 雨宇羽玉钰语 jia 佳嘉家加 wei 伟薇维威炜 ming 明铭鸣茗 \
    hao 浩昊皓豪 jie 杰洁捷婕 li 丽莉立力黎 na 娜 jing 静晶婧敬 fang 芳方 min 敏民 qiang 强 lei 磊蕾雷 \
    jun 军俊君钧 yan 艳燕妍岩言 ting 婷庭廷 bin 斌彬滨 hui 慧辉惠卉 xue 雪学 mei 梅美 peng 鹏朋 fei 飞菲 \
    tao 涛桃 chao 超 gang 刚 ping 平萍 yang 阳洋扬 chen 晨辰宸 zi 子梓紫 xuan 轩萱宣 han 涵寒翰 rui 瑞睿蕊 \
    bo 博波 kai 凯楷 long 龙隆 feng 峰凤丰 hua 华桦 qing 清晴青庆 ning 宁凝 shan 珊山杉 lin 琳林霖 \
    meng 梦萌孟 yue 月悦岳 cheng 成诚程 rong 荣蓉融 zhen 珍真振 yun 云芸韵
    """.split(separator: " ").reduce(into: []) { list, word in
      if word.first!.isASCII {
        list.append((String(word), ""))
      } else {
        list[list.count - 1].characters = String(word)
      }
    }

  private static let english: [(name: String, short: [String])] = """
    William:Bill,Will,Billy Elizabeth:Liz,Beth,Betty Robert:Bob,Rob,Bobby Margaret:Maggie,Peggy \
    James:Jim,Jimmy Katherine:Kate,Kathy Michael:Mike,Mick Jennifer:Jen,Jenny Richard:Rick,Dick \
    Patricia:Pat,Patty Thomas:Tom,Tommy Barbara:Barb Christopher:Chris,Kit Susan:Sue,Susie \
    Daniel:Dan,Danny Jessica:Jess Matthew:Matt Deborah:Deb,Debbie Anthony:Tony Samantha:Sam \
    Joshua:Josh Rebecca:Becky Andrew:Andy,Drew Victoria:Vicky Kenneth:Ken Alexandra:Alex,Sandra \
    Edward:Ed,Ted Abigail:Abby Ronald:Ron Theresa:Terry,Tess Timothy:Tim Josephine:Jo,Josie \
    Jonathan:Jon Stephanie:Steph Nicholas:Nick Valerie:Val Stephen:Steve Dorothy:Dot,Dolly \
    Benjamin:Ben Emma:Em Gregory:Greg Olivia:Liv Samuel:Sam Isabella:Bella Raymond:Ray Lily:Lil \
    Simon:Si Grace:Gracie Lawrence:Larry Eva:Evie Joseph:Joe Amelia:Amy Frederick:Fred Zoe:Zo
    """.split(separator: " ").map { entry in
      let parts = entry.split(separator: ":")
      return (String(parts[0]), parts[1].split(separator: ",").map(String.init))
    }

  private static let englishSurnames = """
    Smith Johnson Williams Brown Jones Miller Davis Wilson Anderson Taylor Moore Jackson Martin \
    Thompson White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Hill Green Adams \
    Baker Nelson Carter Mitchell Roberts Turner Phillips Campbell Parker Evans Edwards Collins \
    Stewart Morris Murphy Cook Rogers Cooper Peterson Bailey Reed Kelly Howard Ward Cox Richardson \
    Wood Watson Brooks Bennett Gray Hughes Price Myers Foster Sanders Ross Powell O'Connor MacDonald
    """.split(separator: " ").map(String.init)

  private static let french = """
    Zoé Chloé Élodie Amélie François Benoît Anaïs Jérôme Noël Hélène Thérèse André Inès Gaël Loïc \
    Mathéo Jean-Pierre Marie-Claire Anne-Sophie Guillaume Océane Aurélie Céline Sébastien Frédéric \
    Geneviève Raphaël Léa Maëlle Théo Camille Margaux Thibault Véronique Étienne Solène Cédric
    """.split(separator: " ").map(String.init)

  private static let frenchSurnames = """
    Lefèvre Béranger Dubois Moreau Laurent Girard Roussel Mercier Dupont Lambert Fontaine Rousseau \
    Chevalier Gauthier Perrin Robin Clément Morin Nicolas Henry Masson Marchand Duval Denis Lemaire \
    Meyer Blanchard Giraud Brunet Boyer Delacroix Guérin Barbier L'Hôpital Saint-Exupéry Benoît
    """.split(separator: " ").map(String.init)
}
