/** Whether commands are given with the Command key. */
export const onMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
