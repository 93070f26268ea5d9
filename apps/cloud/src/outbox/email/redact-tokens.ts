/** Unbroken letters, digits, `-` and `_`, as in the tokens of links. */
const token = /[\w-]{20,}/g;
/** A string of this length that occurs in a token is treated as part of it, because mails are sent in lines that break tokens. */
const partLength = 8;

/** A server's answer to a mail, without any parts of tokens that it quotes. */
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
