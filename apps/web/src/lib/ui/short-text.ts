/** The beginning of a long text, such as a name of 10 kB, for a label or a tooltip. @param most characters, including the ellipsis */
export function shortText(text: string, most = 120): string {
  if (text.length <= most) return text;
  // Half of a surrogate pair is no character.
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
