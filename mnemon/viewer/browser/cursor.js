// The step that all panels show.

const PLAY_MILLISECONDS = 260;

class Cursor {
  constructor(steps) {
    this.last = steps - 1;
    this.step = 0;
    this.listeners = [];
    this.timer = null;
  }

  follow(listener) {
    this.listeners.push(listener);
  }

  moveTo(step) {
    const next = Math.min(Math.max(Math.round(step), 0), this.last);
    if (next === this.step) return;
    this.step = next;
    this.tell();
  }

  tell() {
    for (const listener of this.listeners) listener(this.step);
  }

  get playing() {
    return this.timer !== null;
  }

  play() {
    if (this.playing) return;
    if (this.step === this.last) this.step = -1; // from the beginning
    this.timer = setInterval(() => {
      this.moveTo(this.step + 1);
      if (this.step === this.last) this.pause();
    }, PLAY_MILLISECONDS);
    this.tell();
  }

  pause() {
    if (!this.playing) return;
    clearInterval(this.timer);
    this.timer = null;
    this.tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }
}
