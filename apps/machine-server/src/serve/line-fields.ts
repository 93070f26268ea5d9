/** The fields of a program's log line. Empty fields are omitted, because they only take space. */
import type { JsonObject } from '@bufbuild/protobuf';
import { type LogFields, readLogField } from '@platform/base';

/** The public SDK for Python sends this as the stack of lines without one. */
const noStack = 'exc_info: None, exc_text: None, stack_info: None';

/** @param fields see readLogField. @param maxStack characters of the stack that are kept */
export function lineFields(fields: readonly JsonObject[], stack: string, maxStack: number): LogFields {
  const given = fields.flatMap((field) => readLogField(field)).filter(([, value]) => value !== '' && value != null);
  const hasStack = stack.trim() !== '' && stack !== noStack;
  return { ...Object.fromEntries(given), ...(hasStack && { stack: stack.slice(0, maxStack) }) };
}
