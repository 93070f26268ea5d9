/** The envelope of a message: who gets it, about what. Its checksum is compared before anything is sent (D33). */
import { hashOfText, textOfValues } from '../metadata/row-checks/checked-table.ts';
import type { OutboxMessageRow } from './store.ts';

/** Columns that never change. */
type Envelope = Pick<
  OutboxMessageRow,
  | ('id' | 'channel' | 'organization_id' | 'part_id' | 'target' | 'application')
  | ('trigger_name' | 'event_type' | 'event_at')
>;

export function envelopeCheck(row: Envelope): string {
  const { id, channel, organization_id, part_id, target, application, trigger_name, event_type, event_at } = row;
  const place = [id, channel, organization_id, part_id, target, application];
  return hashOfText(textOfValues([...place, trigger_name, event_type, event_at]));
}

/** Whether nothing but the cloud wrote it. */
export function isEnvelopeRight(row: Envelope & Pick<OutboxMessageRow, 'envelope_check'>): boolean {
  return row.envelope_check === envelopeCheck(row);
}
