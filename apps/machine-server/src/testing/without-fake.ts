/** Types that have only real models. */
export const withoutFake: readonly string[] = ['shell', 'base_remote_control', 'data_manager'];
