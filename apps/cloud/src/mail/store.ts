/** The table of mail that waits to be sent. */
import type { Generated } from 'kysely';
import type { SealedColumn } from '../instance/sealed-column.ts';

export interface MailTables {
  /** Waiting → sent or given up: deleted. A crash while sending sends it again. */
  mail_messages: {
    id: Generated<number>;
    recipient: string;
    /** JSON `{subject, text}`, sealed with the instance key: the text holds links that sign people in. */
    sealed: Uint8Array;
    attempts: Generated<number>;
    created_ms: number;
    next_attempt_ms: number;
  };
}

export const mailV2: readonly string[] = [
  'create table mail_messages (id integer primary key, recipient text not null, sealed blob not null, attempts integer not null default 0, created_ms bigint not null, next_attempt_ms bigint not null)',
  'create index mail_messages_by_time on mail_messages (next_attempt_ms)',
];

export const mailSealed: readonly SealedColumn[] = [{ table: 'mail_messages', key: ['id'], sealed: 'sealed' }];
