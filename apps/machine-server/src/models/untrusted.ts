/** `-untrusted-env` (D16): users who edit the configuration must not be able to run programs on this computer. */
export interface Trust {
  readonly untrusted: boolean;
}

/** @param what names what is refused, such as `the model core:builtin:command` @throws permission_denied with `-untrusted-env` */
export function refuseIfUntrusted({ untrusted }: Trust, what: string): void {
  if (untrusted)
    throw permissionDenied(
      `-untrusted-env does not allow ${what}, which runs programs on this computer: start the machine-server without -untrusted-env to use it`,
    );
}

import { permissionDenied } from '@platform/base';
