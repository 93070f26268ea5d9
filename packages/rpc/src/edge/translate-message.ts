/** Translates the API names in a message to the canonical form (`core`) or to a peer's. */
import { clone, type DescMessage, type Message, type MessageShape } from '@bufbuild/protobuf';
import { isReflectMessage, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { canonicalApi } from '@platform/base/portable';
import { fieldTable, type Spelling } from './api-fields.ts';
import { apiIn, type Vocabulary } from './api-names.ts';

/** Rewrites `rdk` to `core` in the message's API names, in place, and returns it. */
export function canonicalise<D extends DescMessage>(schema: D, message: MessageShape<D>): MessageShape<D> {
  if (fieldTable(schema) !== undefined) respell(reflect(schema, message), 'core');
  return message;
}

/** The message with its API names as the peer spells them; a copy if anything may differ. */
export function inVocabulary(vocabulary: Vocabulary, schema: DescMessage, message: Message): Message {
  if (vocabulary === 'core' || fieldTable(schema) === undefined) return message;
  const copy = clone(schema, message);
  respell(reflect(schema, copy), vocabulary);
  return copy;
}

function respell(message: ReflectMessage, to: Vocabulary): void {
  const table = fieldTable(message.desc);
  if (table === undefined) return;
  for (const { field, spelling } of table.own) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === 'list') {
      const list = message.get(field);
      for (let index = 0; index < list.size; index++) {
        const text = list.get(index);
        if (typeof text === 'string') list.set(index, respellText(text, spelling, to));
      }
    } else {
      const text: unknown = message.get(field);
      if (typeof text === 'string') message.set(field, respellText(text, spelling, to));
    }
  }
  for (const { field } of table.nested) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === 'message') respell(message.get(field), to);
    else if (field.fieldKind === 'list') for (const item of message.get(field)) respellItem(item, to);
    else if (field.fieldKind === 'map') for (const [, item] of message.get(field)) respellItem(item, to);
  }
}

function respellItem(item: unknown, to: Vocabulary): void {
  if (isReflectMessage(item)) respell(item, to);
}

function respellText(text: string, spelling: Spelling, to: Vocabulary): string {
  switch (spelling) {
    case 'name':
      return to === 'core' ? canonicalApi(text) : apiIn(to, text);
    case 'namespace':
      if (to === 'core') return text === 'rdk' ? 'core' : text;
      return text === 'core' ? 'rdk' : text;
    case 'service':
      return to === 'core' ? text.replace(/^(\/?)viam\./, '$1platform.') : text.replace(/^(\/?)platform\./, '$1viam.');
  }
}
