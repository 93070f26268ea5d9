/**
 * The rule for characters that are not seen in a name, or that change how what stands around them is seen: with them one name
 * looks like another, or like none.
 */

/** Controls, line ends, halves of characters, format characters (bidirectional ones among them), and what is ignored in display. */
const suspect = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** What each of some may stand between: some scripts are written with them, and some emoji are made with them. */
const allowed: readonly { readonly one: RegExp; readonly after: RegExp; readonly before: RegExp }[] = [
  // Zero-width (non-)joiners in words, as Persian and the scripts of India need them.
  { one: /[\u200c\u200d]/u, after: /[\p{L}\p{M}]$/u, before: /^\p{L}/u },
  // Joined emoji.
  {
    one: /\u200d/u,
    after: /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u,
    before: /^\p{Extended_Pictographic}/u,
  },
  // Variation selectors: of emoji and keycaps, of Chinese characters, of Mongolian letters.
  { one: /[\ufe0e\ufe0f]/u, after: /\p{Extended_Pictographic}$/u, before: /^/u },
  { one: /\ufe0f/u, after: /[0-9#*]$/u, before: /^\u20e3/u },
  { one: /[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/u, after: /\p{Script=Han}$/u, before: /^/u },
  { one: /[\u180b-\u180d\u180f]/u, after: /\p{Script=Mongolian}$/u, before: /^/u },
];

/** The first such character as `U+202E`; undefined: there is none. */
export function invisibleCharacter(text: string): string | undefined {
  for (const { 0: character, index } of text.matchAll(suspect)) {
    const [before, behind] = [text.slice(0, index), text.slice(index + character.length)];
    const isAllowed = allowed.some(
      (rule) => rule.one.test(character) && rule.after.test(before) && rule.before.test(behind),
    );
    if (!isAllowed) return codeOf(character);
  }
  return undefined;
}

/** Whether anything of a text can be seen: spaces, the empty braille cell and marks without a letter cannot. */
export function isVisible(text: string): boolean {
  return /[\p{L}\p{N}\p{P}\p{S}\p{Co}]/u.test(text.replace(/[\u2800\p{Default_Ignorable_Code_Point}]/gu, ''));
}

/** For messages: in quotes, with what is not seen written out. */
export function visibleText(text: string): string {
  return JSON.stringify(text.slice(0, 80)).replace(suspect, (character) => `<${codeOf(character)}>`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
