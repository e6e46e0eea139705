"""Countries under their several names, and the words for their people and things.

"French" in a summary is supported by "France" in its document. The table holds the
countries that news names most often; under any other name two spellings stay different.
Each line: the word that stands for all, then the others (lower case, `_` for a blank).
"""

from __future__ import annotations

_TABLE = """
afghanistan afghan afghans
america usa us united_states_of_america united_states american americans
argentina argentine argentinian argentines argentinians
australia australian australians
austria austrian austrians
bangladesh bangladeshi bangladeshis
belgium belgian belgians
brazil brazilian brazilians
britain great_britain united_kingdom uk british briton britons
canada canadian canadians
chile chilean chileans
china chinese
colombia colombian colombians
croatia croatian croatians croat croats
cuba cuban cubans
czechia czech_republic czech czechs
denmark danish dane danes
egypt egyptian egyptians
england english
ethiopia ethiopian ethiopians
europe european europeans
finland finnish finn finns
france french frenchman frenchmen frenchwoman
germany german germans
greece greek greeks
hungary hungarian hungarians
india indian indians
indonesia indonesian indonesians
iran iranian iranians
iraq iraqi iraqis
ireland irish
israel israeli israelis
italy italian italians
jamaica jamaican jamaicans
japan japanese
kenya kenyan kenyans
libya libyan libyans
malaysia malaysian malaysians
mexico mexican mexicans
morocco moroccan moroccans
myanmar burma burmese
nepal nepalese nepali
netherlands holland dutch dutchman
nigeria nigerian nigerians
norway norwegian norwegians
pakistan pakistani pakistanis
palestine palestinian palestinians
peru peruvian peruvians
philippines filipino filipinos philippine
poland polish pole poles
portugal portuguese
qatar qatari qataris
romania romanian romanians
russia russian_federation russian russians
saudi_arabia saudi saudis
scotland scottish scot scots
serbia serbian serbians serb serbs
somalia somali somalis
south_korea south_korean south_koreans
north_korea north_korean north_koreans
spain spanish spaniard spaniards
sudan sudanese
sweden swedish swede swedes
switzerland swiss
syria syrian syrians
taiwan taiwanese
thailand thai thais
tunisia tunisian tunisians
turkey turkish turk turks
uganda ugandan ugandans
ukraine ukrainian ukrainians
venezuela venezuelan venezuelans
vietnam vietnamese
wales welsh welshman
yemen yemeni yemenis
"""

NATIONS: dict[tuple[str, ...], str] = {
    tuple(name.split("_")): line.split()[0]
    for line in _TABLE.strip().splitlines()
    for name in line.split()
}
"""The words of a name → the one word for all names of that country."""
LONGEST = max(len(words) for words in NATIONS)
