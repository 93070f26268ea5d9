/** Letters, digits, `-` and `_` without a break, as tokens of links are written. */
const token = /[\w-]{20,}/g;
/** A stretch of a token that is as long as this is taken for a part of it: a mail is sent in lines, which break tokens. */
const partLength = 8;

/** What a server answered to a mail, without what it quoted of the tokens in it. */
export function redactTokens(answer: string, mail: string): string {
  const parts = new Set<string>();
  for (const [found] of mail.matchAll(token))
    for (let at = 0; at + partLength <= found.length; at++) parts.add(found.slice(at, at + partLength));
  let shown = '';
  for (let at = 0, hiddenTo = 0; at < answer.length; at++) {
    if (parts.has(answer.slice(at, at + partLength))) {
      if (at >= hiddenTo) shown += '…';
      hiddenTo = at + partLength;
    }
    if (at >= hiddenTo) shown += answer[at];
  }
  return shown;
}
