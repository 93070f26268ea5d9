/** Fits lists of fragments into one message within the size limit of public clients: configurations without room are omitted. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FragmentSchema } from '@platform/proto/platform/app/v1/app';
import { answerBytes, structBytes } from '../wire/struct-bytes.ts';

export type FragmentMessage = MessageInitShape<typeof FragmentSchema>;

/** Tag and length of a message, and the usage sent with it. */
const aroundBytes = 80;

/** The remaining bytes of an answer. */
export interface Room {
  left: number;
}

export const wholeAnswer = (): Room => ({ left: answerBytes });
export const halfAnswer = (): Room => ({ left: answerBytes / 2 });

/** The first messages that fit, without configurations. */
export function fittingMessages<Of extends { readonly message: FragmentMessage }>(
  all: readonly Of[],
  room: Room,
): Of[] {
  const shown: Of[] = [];
  for (const each of all) {
    const bytes = toBinary(FragmentSchema, create(FragmentSchema, each.message)).length + aroundBytes;
    if (bytes > room.left) break;
    room.left -= bytes;
    shown.push(each);
  }
  return shown;
}

/** Whether a configuration fits; if so, its size is taken from the room. */
export function takesRoom(config: Parameters<typeof structBytes>[0], room: Room): boolean {
  const bytes = structBytes(config);
  if (bytes > room.left) return false;
  room.left -= bytes;
  return true;
}
