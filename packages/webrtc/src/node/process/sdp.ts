/**
 * What is done with SDP and candidates before the library sees them, and with candidates before others see them.
 *
 * They come from strangers. A candidate is used only if it is an address: names would make this computer ask name servers for what a
 * stranger chose, and names of browsers (`….local`) lead nowhere here; the browser is then found by its own checks.
 */
import { isIP } from 'node:net';
import type { Candidate } from '../../peer.ts';

/** Candidates of the other side that are used; callers have about ten. */
export const maxCandidates = 64;
const maxCandidateLength = 512;
/** Data, and some media. */
const maxMediaLines = 32;

/** The SDP of the other side without candidates that cannot be used. @throws Error that says what is expected */
export function checkedSdp(sdp: string): string {
  const lines = sdp.split(/\r?\n/);
  for (const [start, what] of required)
    if (!lines.some((line) => line.startsWith(start))) throw new Error(`expected ${what} (${start}…), found none`);
  if (lines.filter((line) => line.startsWith('m=')).length > maxMediaLines)
    throw new Error(`expected at most ${maxMediaLines} media descriptions`);
  let candidates = 0;
  return lines
    .filter((line) => !line.startsWith('a=candidate:') || (isUsable(line.slice(2)) && ++candidates <= maxCandidates))
    .join('\r\n');
}

const required: readonly (readonly [string, string])[] = [
  ['v=0', 'a session description'],
  ['m=application ', 'a data channel'],
  ['a=ice-ufrag:', 'the name for ICE'],
  ['a=ice-pwd:', 'the password for ICE'],
  ['a=fingerprint:', 'the fingerprint of a certificate'],
];

/** Over UDP, to an address. @param candidate `candidate:…` */
export function isUsable(candidate: string): boolean {
  if (candidate.length > maxCandidateLength) return false;
  const [start = '', , transport = '', , address = '', port = ''] = candidate.split(' ');
  return start.startsWith('candidate:') && transport.toLowerCase() === 'udp' && isIP(address) !== 0 && isPort(port);
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536;
}

/**
 * An offer that leaves the first step of DTLS to its sender. The side that answers usually takes that step, as soon as its own pair of
 * candidates works, when the other side may not listen yet: then it is lost, and repeated after a second. Between two engines of ours this
 * is one dial in three; the other way round, it is one in twenty.
 */
export function letOffererBegin(offer: string): string {
  return offer.replaceAll(/^a=setup:actpass(?=\r?$)/gm, 'a=setup:active');
}

/** Whether, by this answer, the side that offered takes the first step of DTLS. */
export function beginsHere(answer: string): boolean {
  return /^a=setup:passive\r?$/m.test(answer);
}

/** A description, and apart from it the candidates in it. */
export function withoutCandidates(description: string): { readonly sdp: string; readonly candidates: Candidate[] } {
  const lines = description.split('\r\n');
  const mid = midOf(description);
  const [candidates, others] = [true, false].map((is) =>
    lines.filter((line) => line.startsWith('a=candidate:') === is),
  );
  return {
    sdp: (others ?? []).join('\r\n'),
    candidates: (candidates ?? []).map((line) => ({ candidate: line.slice('a='.length), mid })),
  };
}

/** Of the first media description, which carries the others, too. */
function midOf(description: string): string {
  return /^a=mid:(\S+)/m.exec(description)?.[1] ?? '0';
}

/** For callers on the same computer: the library has no candidate for them. The least preference, because others cannot use it. */
export function loopbackCandidate(port: number, description: string): Candidate {
  const [typeOfHost, leastPreference, component] = [126, 0, 1];
  const priority = typeOfHost * 2 ** 24 + leastPreference * 2 ** 8 + (256 - component);
  return {
    candidate: `candidate:loopback ${component} UDP ${priority} 127.0.0.1 ${port} typ host`,
    mid: midOf(description),
  };
}
