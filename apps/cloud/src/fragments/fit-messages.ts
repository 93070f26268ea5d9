/** Lists of fragments as one message that public clients take: what does not fit is said without its configuration. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FragmentSchema } from '@platform/proto/platform/app/v1/app';
import { answerBytes, structBytes } from '../wire/struct-bytes.ts';

export type FragmentMessage = MessageInitShape<typeof FragmentSchema>;

/** Tag and length around a message, and the usage that goes along. */
const aroundBytes = 80;

/** What an answer may still hold. */
export interface Room {
  left: number;
}

export const wholeAnswer = (): Room => ({ left: answerBytes });
export const halfAnswer = (): Room => ({ left: answerBytes / 2 });

/** The first of them that fit, without configurations. */
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

/** Whether a configuration fits, which then takes its room. */
export function takesRoom(config: Parameters<typeof structBytes>[0], room: Room): boolean {
  const bytes = structBytes(config);
  if (bytes > room.left) return false;
  room.left -= bytes;
  return true;
}
