/**
 * Finds characters that are invisible in a name, or that change how the text around them is displayed. They could make a name look like
 * another one, or empty.
 */

/**
 * Control characters, line ends, lone surrogates, format characters (including bidirectional ones), and characters that displays ignore.
 */
const suspect = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Contexts in which such characters are allowed: some scripts and some emoji need them. */
const allowed: readonly { readonly one: RegExp; readonly after: RegExp; readonly before: RegExp }[] = [
  // Zero-width (non-)joiners within words: Persian and Indian scripts need them.
  { one: /[\u200c\u200d]/u, after: /[\p{L}\p{M}]$/u, before: /^\p{L}/u },
  // Joined emoji.
  {
    one: /\u200d/u,
    after: /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u,
    before: /^\p{Extended_Pictographic}/u,
  },
  // Variation selectors for emoji and keycaps, Chinese characters, and Mongolian letters.
  { one: /[\ufe0e\ufe0f]/u, after: /\p{Extended_Pictographic}$/u, before: /^/u },
  { one: /\ufe0f/u, after: /[0-9#*]$/u, before: /^\u20e3/u },
  { one: /[\ufe00-\ufe02\u{e0100}-\u{e01ef}]/u, after: /\p{Script=Han}$/u, before: /^/u },
  { one: /[\u180b-\u180d\u180f]/u, after: /\p{Script=Mongolian}$/u, before: /^/u },
];

/** The first such character as `U+202E`; undefined if there is none. */
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

/** Whether anything in the text is visible: spaces, the empty braille cell and marks without a letter are not. */
export function isVisible(text: string): boolean {
  return /[\p{L}\p{N}\p{P}\p{S}\p{Co}]/u.test(text.replace(/[\u2800\p{Default_Ignorable_Code_Point}]/gu, ''));
}

/** For messages: quoted, with invisible characters written as codes. */
export function visibleText(text: string): string {
  return JSON.stringify(text.slice(0, 80)).replace(suspect, (character) => `<${codeOf(character)}>`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
