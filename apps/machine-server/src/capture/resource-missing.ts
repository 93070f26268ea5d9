import { PlatformError } from '@platform/base';

/** The resource could not be built, which its own line tells. */
export class ResourceMissing extends PlatformError {
  constructor(resource: string) {
    super('unavailable', `${resource} is not there`);
  }
}
