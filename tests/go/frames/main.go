// SPDX-License-Identifier: MIT

// Uses much of Go's library: code by the compiler and by hand.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"sort"
	"strings"
	"sync"
)

func sums(data []byte) string {
	return fmt.Sprintf("%x %x %x %x", md5.Sum(data), sha1.Sum(data), sha256.Sum256(data), sha512.Sum512(data))
}

func encrypted(data []byte) int {
	block, err := aes.NewCipher(data[:32])
	if err != nil {
		panic(err)
	}
	sealer, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return len(sealer.Seal(nil, data[:12], data, nil))
}

func signed(data []byte) bool {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	hash := sha256.Sum256(data)
	r, s, err := ecdsa.Sign(rand.Reader, key, hash[:])
	return err == nil && ecdsa.Verify(&key.PublicKey, hash[:], r, s)
}

func packed(data []byte) int {
	var out bytes.Buffer
	writer, _ := flate.NewWriter(&out, 6)
	writer.Write(data)
	writer.Close()
	return out.Len()
}

func powers() string {
	return new(big.Int).Exp(big.NewInt(3), big.NewInt(1000), big.NewInt(1000000007)).String()
}

func words(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range regexp.MustCompile(`[a-z]+`).FindAllString(text, -1) {
		counts[word]++
	}
	return counts
}

func main() {
	var group sync.WaitGroup

	data := bytes.Repeat([]byte("go frames "), 500)
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			sums(data)
		}()
	}
	group.Wait()
	text, _ := json.Marshal(words("a b a c " + strings.Repeat("d ", 20)))
	order := []int{5, 2, 8, 1}
	sort.Ints(order)
	fmt.Println(sums(data), encrypted(data), signed(data), packed(data) > 0, powers(), string(text), order)
}
