/** When a trigger notifies, as one sentence to read. */
import { conditionsInWords } from './conditions.ts';
import { wordsOf } from './events.ts';
import type { Sentence } from './sentence.ts';

/** Such as `Notifies when temperature is above 80 in every reading for 60 s, and again when it is over.` */
export function inWords(sentence: Sentence): string {
  const { event, number: given } = sentence;
  if (event === 'conditional_data_ingested') return `Notifies ${readingInWords(sentence)}.`;
  const { words, number, isState } = wordsOf(event);
  const limit = number ? ` ${number.before} ${given ?? number.byDefault} ${number.after}` : '';
  if (event === 'conditional_logs_ingested') return `Notifies when ${linesInWords(sentence)} are logged,${limit}.`;
  if (event === 'part_data_ingested') return `Notifies when ${listed(sentence.dataTypes)} data arrives.`;
  return `Notifies when ${words}${limit}${isState ? ', and again when it is over' : ''}.`;
}

const listed = (all: readonly string[]): string => all.join(' or ') || '…';

function linesInWords({ levels, text }: Sentence): string {
  return `lines at level ${listed(levels)}${text === '' ? '' : ` that match ${text}`}`;
}

function readingInWords({ method, conditions, timing, clear }: Sentence): string {
  const met = conditionsInWords(conditions);
  const { mode, secs, times } = timing;
  const over = `, and again when ${clear.items.length > 0 ? conditionsInWords(clear) : 'it is over'}`;
  const source = method || 'the captured method';
  if (mode === 'absent')
    return met === ''
      ? `when nothing has arrived from ${source} for ${secs} s${over}`
      : `when no reading of ${source} with ${met} has arrived for ${secs} s${over}`;
  const what = `${met || '…'} in`;
  if (mode === 'for') return `when ${what} every reading of ${source} for ${secs} s${over}`;
  if (mode === 'times') return `when ${what} ${times} readings of ${source} within ${secs} s${over}`;
  if (met === '' && clear.items.length === 0) return `each time that data of ${source} arrives`;
  return clear.items.length > 0
    ? `when ${what} a reading of ${source}${over}`
    : `each time that ${what} a reading of ${source}`;
}
