/** The line in the machine's logs that says that a trigger could not notify. */
/** One line of a machine's logs, as the cloud writes it. */
export interface MachineLogLine {
  readonly level: 'error';
  readonly loggerName: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface FailedNotification {
  readonly triggerName: string;
  readonly triggerType: string;
  readonly notificationType: string;
  /** URL; what stands before `@` or after `?` can be a secret and is not shown. */
  readonly target: string;
  readonly partId: string;
  readonly componentName?: string;
  readonly methodName?: string;
  readonly error: string;
  readonly code?: number;
  /** Names the message, so that the line can be found from it and the other way round. */
  readonly messageId: string;
}

export function failureLine(failed: FailedNotification): MachineLogLine {
  const { triggerName, triggerType, notificationType, partId, error, messageId } = failed;
  const url = failed.target.replace(/[?#].*$/s, '').replace(/^(\w+:\/\/)[^/]*@/, '$1');
  const component = failed.componentName || 'N/A';
  const method = failed.methodName || 'N/A';
  const responseCode = failed.code ?? 'N/A';
  return {
    level: 'error',
    loggerName: `app.trigger.${triggerName}`,
    message:
      `trigger failed to notify ${url} for part ${partId}; component: ${component}, method: ${method}, ` +
      `trigger type: ${triggerType}, notification type: ${notificationType}, error: ${error}, response code: ${responseCode}`,
    fields: { url, partId, component, method, triggerType, notificationType, error, responseCode, messageId },
  };
}
