/** Fits lists of fragments into one message within the size limit of public clients: configurations that do not fit are omitted. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { FragmentSchema } from '@platform/proto/platform/app/v1/app';
import { answerBytes } from '../wire/struct-bytes.ts';

export type FragmentMessage = MessageInitShape<typeof FragmentSchema>;

/** Tag and length of a message, and the usage sent with it. */
const aroundBytes = 80;

/** The remaining bytes of an answer. */
export interface ByteBudget {
  left: number;
}

export const wholeAnswer = (): ByteBudget => ({ left: answerBytes });
export const halfAnswer = (): ByteBudget => ({ left: answerBytes / 2 });

/** The first messages that fit, without configurations. */
export function fittingMessages<Of extends { readonly message: FragmentMessage }>(
  all: readonly Of[],
  budget: ByteBudget,
): Of[] {
  const shown: Of[] = [];
  for (const each of all) {
    const bytes = toBinary(FragmentSchema, create(FragmentSchema, each.message)).length + aroundBytes;
    if (!takes(budget, bytes)) break;
    shown.push(each);
  }
  return shown;
}

/** Whether so many bytes are left; if so, they are taken from the budget. */
export function takes(budget: ByteBudget, bytes: number): boolean {
  if (bytes > budget.left) return false;
  budget.left -= bytes;
  return true;
}
