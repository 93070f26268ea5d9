/** The log lines of the machine that report that a trigger could not notify. */
import { eventOf } from './event.ts';
import type { OutboxMessageRow } from './store.ts';

/** One line of a machine's logs, as the cloud writes it. */
export interface MachineLogLine {
  readonly level: 'error' | 'warn';
  readonly loggerName: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** @param code status of the answer, if there was one */
export function failureLine(row: OutboxMessageRow, error: string, code: number | undefined): MachineLogLine {
  const { id: messageId, part_id: partId, trigger_name: triggerName, event_type: triggerType } = row;
  const notificationType = row.channel;
  const url = withoutSecrets(row.target);
  const data = eventOf(row.event)?.data;
  const component = data?.componentName || 'N/A';
  const method = data?.methodName || 'N/A';
  const responseCode = code ?? 'N/A';
  return {
    level: 'error',
    loggerName: `app.trigger.${triggerName}`,
    message:
      `trigger failed to notify ${url} for part ${partId}; component: ${component}, method: ${method}, ` +
      `trigger type: ${triggerType}, notification type: ${notificationType}, error: ${error}, response code: ${responseCode}`,
    fields: { url, partId, component, method, triggerType, notificationType, error, responseCode, messageId },
  };
}

/** The line that reports that a notification went to the test inbox, because no server or credentials are configured to send it. */
export function keptLine(row: OutboxMessageRow, reason: string): MachineLogLine {
  const { id: messageId, channel: notificationType, target, trigger_name: triggerName } = row;
  return {
    level: 'warn',
    loggerName: `app.trigger.${triggerName}`,
    message: `trigger notified nobody: the notification to ${target} was kept in the test inbox: ${reason}`,
    fields: { target, partId: row.part_id, triggerType: row.event_type, notificationType, messageId },
  };
}

/** A target without the parts of a URL that can be secret: those before `@` and after `?`. */
export function withoutSecrets(target: string): string {
  return target.replace(/[?#].*$/s, '').replace(/^(\w+:\/\/)[^/]*@/, '$1');
}
