// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text safe to print: names and log lines must not move the cursor, change colours or reverse the text direction. Control and
 * direction characters are escaped as \uXXXX; tab and newline stay. JSON keeps its meaning.
 */
export function printable(text: string): string {
  return text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Also indents further lines, so that none of them can look like an entry of its own. */
export function printableEntry(text: string): string {
  return printable(text.replaceAll(/\r?\n/g, '\n    '));
}
