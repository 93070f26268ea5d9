/** Session descriptions and candidates as signaling sends them. No Node: browsers load this file. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base/refusals';
import type { ICECandidate, ICECandidateSchema, WebRTCConfig } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { Candidate, IceServer } from '../peer.ts';

/** A description with candidates of all interfaces of a computer takes a few kB. */
export const maxDescriptionBytes: number = 64 * 1024;

/** Base64 of the JSON that browsers make of a description. */
export function writeDescription(type: 'offer' | 'answer', sdp: string): string {
  return btoa(JSON.stringify({ type, sdp }));
}

/** @throws invalid_argument */
export function readDescription(type: 'offer' | 'answer', text: string): string {
  const refused = (found: string) => invalidArgument(`expected an SDP ${type} as JSON in base64, found ${found}`);
  if (text.length > maxDescriptionBytes) throw refused(`${text.length} characters, more than ${maxDescriptionBytes}`);
  let read: unknown;
  try {
    read = JSON.parse(atob(text));
  } catch {
    throw refused('something else');
  }
  const { type: found, sdp } = (read ?? {}) as { readonly type?: unknown; readonly sdp?: unknown };
  if (found !== type || typeof sdp !== 'string') throw refused(`the type ${JSON.stringify(found)?.slice(0, 40)}`);
  return sdp;
}

/** All fields are set: some public clients misread those that are absent. */
export function writeCandidate({ candidate, mid }: Candidate): MessageInitShape<typeof ICECandidateSchema> {
  return { candidate, sdpMid: mid, sdpmLineIndex: 0, usernameFragment: '' };
}

export function readCandidate({ candidate, sdpMid }: ICECandidate): Candidate {
  return { candidate, mid: sdpMid === undefined || sdpMid === '' ? '0' : sdpMid };
}

export function iceServersIn(config: WebRTCConfig | undefined): IceServer[] {
  return (config?.additionalIceServers ?? []).map(({ urls, username, credential }) => ({ urls, username, credential }));
}
