/** The message of a notification for the push provider's HTTP v1 API. Pure. */
import type { TriggerEvent } from '../event.ts';
import { summaryOf } from '../in-words.ts';

/** Maximum characters of a title or a text; the provider accepts 4 KiB in total. */
const maxShown = 500;

export interface PushMessageIds {
  readonly id: string;
  readonly triggerName: string;
  readonly application: string;
}

/**
 * @param id of the notification: phones replace one that they already show, so that a repeat is not seen twice
 * @param application id of the app that shows it
 */
export function pushMessage(
  event: TriggerEvent,
  { id, triggerName, application }: PushMessageIds,
  token: string,
): Readonly<Record<string, unknown>> {
  const { type, place } = event;
  return {
    message: {
      token,
      notification: { title: triggerName.slice(0, maxShown), body: summaryOf(event).slice(0, maxShown) },
      data: {
        event_type: type,
        robot_part_id: place.partId,
        machine_name: place.robotName.slice(0, maxShown),
        part_name: place.partName.slice(0, maxShown),
        app_id: application,
        notification_id: id,
      },
      android: { collapse_key: id, notification: { tag: id } },
      apns: { headers: { 'apns-collapse-id': id } },
    },
  };
}
